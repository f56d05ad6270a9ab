/* Browsers start no worker from a file of the disk. Where the site is read from there, the worker of
 * its search runs in a hidden frame instead, which is of the same origin as the page. */
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      this.ready = new Promise((resolve) => { script.onload = resolve; });
      script.src = url;
      inside.document.body.appendChild(script);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(
        new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
