// Each warp copies pieces: in words as wide as both addresses allow once their first bytes are
// copied, and the bytes before and behind the words one by one. See row_kernel_ptx.hpp.
#include "gpu/row_kernel_ptx.hpp"

#include "base/rows.hpp"

#include <cstddef>

namespace sluice {

// The program reads them in pairs, from where they are.
static_assert(sizeof(Rows) == 48 && offsetof(Rows, target) == 0 && offsetof(Rows, source) == 8 &&
              offsetof(Rows, length) == 16 && offsetof(Rows, count) == 24 &&
              offsetof(Rows, target_stride) == 32 && offsetof(Rows, source_stride) == 40);

char const* const row_kernel_ptx = R"(
.version 5.0
.target sm_52
.address_size 64

.visible .entry sluice_copy_rows(.param .u64 table, .param .u64 rows)
{
    .reg .pred %p;
    .reg .u32 %a, %b, %c, %x<16>;
    .reg .u16 %h;
    .reg .u64 %table, %rows, %row, %row_step, %lane, %first_piece, %piece, %piece_step;
    .reg .u64 %at, %target, %source, %length, %count, %target_stride, %source_stride;
    .reg .u64 %t, %s, %word, %mask, %head, %body_end, %here, %step, %from, %to, %w, %d;

    ld.param.u64 %table, [table];
    ld.param.u64 %rows, [rows];
    cvta.to.global.u64 %table, %table;

    // Lane, first row and first piece of this thread, and the steps to the next ones.
    mov.u32 %a, %tid.x;
    cvt.u64.u32 %lane, %a;
    mov.u32 %a, %ctaid.y;
    mov.u32 %b, %ntid.y;
    mov.u32 %c, %tid.y;
    mad.lo.u32 %c, %a, %b, %c;
    cvt.u64.u32 %row, %c;
    mov.u32 %a, %nctaid.y;
    mul.wide.u32 %row_step, %a, %b;
    mov.u32 %a, %ctaid.x;
    mov.u32 %b, %ntid.z;
    mov.u32 %c, %tid.z;
    mad.lo.u32 %c, %a, %b, %c;
    cvt.u64.u32 %first_piece, %c;
    mov.u32 %a, %nctaid.x;
    mul.wide.u32 %piece_step, %a, %b;

NEXT_ROW:
    setp.ge.u64 %p, %row, %rows;
    @%p bra DONE;
    mad.lo.u64 %at, %row, 48, %table;
    ld.global.v2.u64 {%target, %source}, [%at];
    ld.global.v2.u64 {%length, %count}, [%at+16];
    ld.global.v2.u64 {%target_stride, %source_stride}, [%at+32];
    mov.u64 %piece, %first_piece;

NEXT_PIECE:
    setp.ge.u64 %p, %piece, %count;
    @%p bra ROW_DONE;
    mad.lo.u64 %t, %piece, %target_stride, %target;
    mad.lo.u64 %s, %piece, %source_stride, %source;
    cvta.to.global.u64 %t, %t;
    cvta.to.global.u64 %s, %s;

    // The lowest bit in which the addresses differ, at most 16, is the width of a word.
    xor.b64 %word, %t, %s;
    or.b64 %word, %word, 16;
    neg.s64 %d, %word;
    and.b64 %word, %word, %d;
    setp.eq.u64 %p, %word, 2;
    selp.u64 %word, 1, %word, %p;
    sub.u64 %mask, %word, 1;
    neg.s64 %head, %t;
    and.b64 %head, %head, %mask;
    min.u64 %head, %head, %length;
    sub.u64 %body_end, %length, %head;
    not.b64 %d, %mask;
    and.b64 %body_end, %body_end, %d;
    add.u64 %body_end, %body_end, %head;

    // Bytes before the words.
    setp.ge.u64 %p, %lane, %head;
    @%p bra WORDS;
    add.u64 %from, %s, %lane;
    add.u64 %to, %t, %lane;
    ld.global.u8 %h, [%from];
    st.global.u8 [%to], %h;

WORDS:
    mad.lo.u64 %here, %lane, %word, %head;
    shl.b64 %step, %word, 5;
    setp.eq.u64 %p, %word, 16;
    @%p bra FOUR_OF_16;
    setp.eq.u64 %p, %word, 8;
    @%p bra BY_8;
    setp.eq.u64 %p, %word, 4;
    @%p bra BY_4;

BY_1:
    setp.ge.u64 %p, %here, %body_end;
    @%p bra TAIL;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.u8 %h, [%from];
    st.global.u8 [%to], %h;
    add.u64 %here, %here, %step;
    bra BY_1;

BY_4:
    setp.ge.u64 %p, %here, %body_end;
    @%p bra TAIL;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.u32 %a, [%from];
    st.global.u32 [%to], %a;
    add.u64 %here, %here, %step;
    bra BY_4;

BY_8:
    setp.ge.u64 %p, %here, %body_end;
    @%p bra TAIL;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.u64 %w, [%from];
    st.global.u64 [%to], %w;
    add.u64 %here, %here, %step;
    bra BY_8;

    // Four words are under way at a time: a load over the bus takes a microsecond.
FOUR_OF_16:
    add.u64 %d, %here, 1536;
    setp.ge.u64 %p, %d, %body_end;
    @%p bra BY_16;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%from];
    ld.global.v4.u32 {%x4, %x5, %x6, %x7}, [%from+512];
    ld.global.v4.u32 {%x8, %x9, %x10, %x11}, [%from+1024];
    ld.global.v4.u32 {%x12, %x13, %x14, %x15}, [%from+1536];
    st.global.v4.u32 [%to], {%x0, %x1, %x2, %x3};
    st.global.v4.u32 [%to+512], {%x4, %x5, %x6, %x7};
    st.global.v4.u32 [%to+1024], {%x8, %x9, %x10, %x11};
    st.global.v4.u32 [%to+1536], {%x12, %x13, %x14, %x15};
    add.u64 %here, %here, 2048;
    bra FOUR_OF_16;

BY_16:
    setp.ge.u64 %p, %here, %body_end;
    @%p bra TAIL;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%from];
    st.global.v4.u32 [%to], {%x0, %x1, %x2, %x3};
    add.u64 %here, %here, %step;
    bra BY_16;

    // Bytes behind the words.
TAIL:
    add.u64 %here, %body_end, %lane;
    setp.ge.u64 %p, %here, %length;
    @%p bra PIECE_DONE;
    add.u64 %from, %s, %here;
    add.u64 %to, %t, %here;
    ld.global.u8 %h, [%from];
    st.global.u8 [%to], %h;

PIECE_DONE:
    add.u64 %piece, %piece, %piece_step;
    bra NEXT_PIECE;

ROW_DONE:
    add.u64 %row, %row, %row_step;
    bra NEXT_ROW;

DONE:
    ret;
}
)";

}  // namespace sluice
