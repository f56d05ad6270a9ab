// What launchers tell by environment variables, and which of them counts.
#include "system/launcher.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace sluice::launcher_test {
namespace {

/// The process is started by nobody until a test says by whom.
class Launcher : public ::testing::Test {
protected:
    void SetUp() override {
        for (char const* const name : {"OMPI_COMM_WORLD_SIZE",
                                       "OMPI_COMM_WORLD_RANK",
                                       "OMPI_COMM_WORLD_LOCAL_SIZE",
                                       "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "PMIX_RANK",
                                       "PMI_SIZE",
                                       "PMI_RANK",
                                       "PMI_LOCAL_SIZE",
                                       "PMI_LOCAL_RANK",
                                       "MPI_LOCALNRANKS",
                                       "MPI_LOCALRANKID",
                                       "MV2_COMM_WORLD_SIZE",
                                       "FLUX_TASK_RANK",
                                       "FLUX_JOB_SIZE",
                                       "FLUX_JOB_NNODES",
                                       "PALS_RANKID",
                                       "JSM_NAMESPACE_RANK",
                                       "ALPS_APP_PE",
                                       "SLURM_STEP_NUM_TASKS",
                                       "SLURM_STEP_TASKS_PER_NODE",
                                       "SLURM_PROCID",
                                       "SLURM_LOCALID",
                                       "SLURM_NODEID"}) {
            if (char const* const value = std::getenv(name)) before_[name] = value;
            unsetenv(name);
        }
    }
    void TearDown() override {
        for (auto const& name : set_) unsetenv(name.c_str());
        for (auto const& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
    }
    void says(std::map<std::string, std::string> const& variables) {
        for (auto const& [name, value] : variables) {
            setenv(name.c_str(), value.c_str(), 1);
            set_.push_back(name);
        }
    }

private:
    std::map<std::string, std::string> before_;
    std::vector<std::string> set_;
};

std::map<std::string, std::string> const by_srun = {{"SLURM_STEP_NUM_TASKS", "7"},
                                                    {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                                                    {"SLURM_PROCID", "5"},
                                                    {"SLURM_LOCALID", "1"},
                                                    {"SLURM_NODEID", "2"}};

TEST_F(Launcher, NobodySaysNothing) {
    EXPECT_EQ(launched().ranks, -1);
    EXPECT_EQ(launched().rank, -1);
    EXPECT_EQ(launched().ranks_of_node, -1);
    EXPECT_EQ(launched().rank_of_node, -1);
    EXPECT_EQ(launched().launcher, nullptr);
}

TEST_F(Launcher, SrunSaysAll) {
    says(by_srun);
    EXPECT_EQ(launched().ranks, 7);
    EXPECT_EQ(launched().rank, 5);
    EXPECT_EQ(launched().ranks_of_node, 2);
    EXPECT_EQ(launched().rank_of_node, 1);
}

/// With --mpi=pmi2 and --mpi=pmix it says some of it in the words of others.
TEST_F(Launcher, SrunSaysTheRestWhereAnInterfaceSaysSome) {
    says(by_srun);
    says({{"PMI_SIZE", "7"}, {"PMI_RANK", "5"}});
    EXPECT_EQ(launched().ranks, 7);
    EXPECT_EQ(launched().ranks_of_node, 2);
    EXPECT_EQ(launched().rank_of_node, 1);
}

/// It may start its own helpers by srun, whose variables their ranks see.
TEST_F(Launcher, AnMpiexecBelowSrunCounts) {
    says(by_srun);
    says({{"PMI_SIZE", "64"},
          {"PMI_RANK", "40"},
          {"MPI_LOCALNRANKS", "32"},
          {"MPI_LOCALRANKID", "8"}});
    EXPECT_EQ(launched().ranks, 64);
    EXPECT_EQ(launched().rank, 40);
    EXPECT_EQ(launched().ranks_of_node, 32);
    EXPECT_EQ(launched().rank_of_node, 8);
}

/// A batch script is no step, though it has a number.
TEST_F(Launcher, ABatchScriptIsNoRank) {
    says({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}});
    EXPECT_EQ(launched().rank, -1);
    EXPECT_EQ(launched().rank_of_node, -1);
}

/// A launcher that nobody knows, which talks PMI to its ranks, in a task of srun.
TEST_F(Launcher, PmiTellsOfTheNearest) {
    says(by_srun);
    says({{"PMI_SIZE", "64"}, {"PMI_RANK", "40"}});
    EXPECT_STREQ(launched().launcher, "a launcher with PMI");
    EXPECT_EQ(launched().ranks, 64);
    EXPECT_EQ(launched().rank, 40);
    EXPECT_EQ(launched().ranks_of_node, -1);
    EXPECT_EQ(launched().rank_of_node, -1);
}

/// What each says, with 6 ranks on two nodes, to the second rank of the second node.
struct Said {
    char const* launcher;
    std::map<std::string, std::string> variables;
    long ranks, ranks_of_node;
};
Said const all_said[] = {
    {"mpiexec of Open MPI",
     {{"OMPI_COMM_WORLD_SIZE", "6"},
      {"OMPI_COMM_WORLD_RANK", "4"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"PMIX_RANK", "4"}},
     6,
     3},
    {"mpiexec (Hydra)",
     {{"PMI_SIZE", "6"}, {"PMI_RANK", "4"}, {"MPI_LOCALNRANKS", "3"}, {"MPI_LOCALRANKID", "1"}},
     6,
     3},
    {"mpirun_rsh of MVAPICH",
     {{"MV2_COMM_WORLD_SIZE", "6"},
      {"MV2_COMM_WORLD_RANK", "4"},
      {"MV2_COMM_WORLD_LOCAL_SIZE", "3"},
      {"MV2_COMM_WORLD_LOCAL_RANK", "1"}},
     6,
     3},
    {"Flux",  // It does not count the ranks of each node.
     {{"FLUX_JOB_SIZE", "6"},
      {"FLUX_JOB_NNODES", "2"},
      {"FLUX_TASK_RANK", "4"},
      {"FLUX_TASK_LOCAL_ID", "1"},
      {"PMI_SIZE", "6"},
      {"PMI_RANK", "4"}},
     6,
     -1},
    {"PALS",  // With --pmi=pmix nobody counts the ranks.
     {{"PALS_RANKID", "4"},
      {"PALS_LOCAL_RANKID", "1"},
      {"PALS_LOCAL_SIZE", "3"},
      {"PMIX_RANK", "4"}},
     -1,
     3},
    {"PALS",
     {{"PALS_RANKID", "4"},
      {"PALS_LOCAL_RANKID", "1"},
      {"PALS_LOCAL_SIZE", "3"},
      {"PMI_SIZE", "6"},
      {"PMI_RANK", "4"}},
     6,
     3},
    {"jsrun",
     {{"JSM_NAMESPACE_SIZE", "6"},
      {"JSM_NAMESPACE_RANK", "4"},
      {"JSM_NAMESPACE_LOCAL_SIZE", "3"},
      {"JSM_NAMESPACE_LOCAL_RANK", "1"}},
     6,
     3},
    {"aprun of ALPS",
     {{"ALPS_APP_PE", "4"}, {"PMI_SIZE", "6"}, {"PMI_LOCAL_SIZE", "3"}, {"PMI_LOCAL_RANK", "1"}},
     6,
     3},
};

class SaidByLauncher : public Launcher, public ::testing::WithParamInterface<Said> {};

TEST_P(SaidByLauncher, IsHeard) {
    Said const& said = GetParam();
    says(said.variables);
    EXPECT_STREQ(launched().launcher, said.launcher);
    EXPECT_EQ(launched().ranks, said.ranks);
    EXPECT_EQ(launched().rank, 4);
    EXPECT_EQ(launched().ranks_of_node, said.ranks_of_node);
    EXPECT_EQ(launched().rank_of_node, 1);
}
INSTANTIATE_TEST_SUITE_P(Each, SaidByLauncher, ::testing::ValuesIn(all_said));

/// A launcher that talks PMIx, and says no more, in a task of srun.
TEST_F(Launcher, PmixTellsOfTheNearest) {
    says({{"SLURM_STEP_NUM_TASKS", "1"},
          {"SLURM_STEP_TASKS_PER_NODE", "1"},
          {"SLURM_PROCID", "0"},
          {"PMIX_RANK", "3"}});
    EXPECT_STREQ(launched().launcher, "a launcher with PMIx");
    EXPECT_EQ(launched().ranks, -1);
    EXPECT_EQ(launched().rank, 3);
}

/// The MPI of jsrun has the variables of Open MPI as well.
TEST_F(Launcher, JsrunIsNoMpiexecOfOpenMpi) {
    says({{"JSM_NAMESPACE_SIZE", "6"},
          {"JSM_NAMESPACE_RANK", "4"},
          {"OMPI_COMM_WORLD_SIZE", "6"},
          {"OMPI_COMM_WORLD_RANK", "4"}});
    EXPECT_STREQ(launched().launcher, "jsrun");
    says({{"OMPI_COMM_WORLD_SIZE", "2"}});
    EXPECT_STREQ(launched().launcher, "mpiexec of Open MPI");
}

TEST_F(Launcher, RanksShareANodeEvenlyWhereNobodyCountsThem) {
    EXPECT_EQ(launched().sharing_node(), 1);
    says({{"PMI_SIZE", "7"}, {"PMI_RANK", "5"}});
    EXPECT_EQ(launched().sharing_node(), 7);
    says({{"FLUX_JOB_SIZE", "7"}, {"FLUX_JOB_NNODES", "2"}, {"FLUX_TASK_RANK", "5"}});
    EXPECT_EQ(launched().sharing_node(), 4);
    says({{"MPI_LOCALNRANKS", "3"}});
    EXPECT_EQ(launched().sharing_node(), 3);
}

TEST_F(Launcher, FluxWithOneNodeHasAllRanksThere) {
    says({{"FLUX_JOB_SIZE", "6"}, {"FLUX_JOB_NNODES", "1"}, {"FLUX_TASK_RANK", "4"}});
    EXPECT_EQ(launched().ranks_of_node, 6);
}

/// A resource manager starts serial programs as well, whatever it offers to an MPI.
TEST_F(Launcher, ManySerialProgramsAreToldFromAnotherMpisJob) {
    says(by_srun);
    EXPECT_NE(apart_from_launcher(1).what.find("--mpi=pmi2"), std::string::npos);
    EXPECT_FALSE(apart_from_launcher(1).is_fatal);
    says({{"PMI_SIZE", "7"}});
    EXPECT_FALSE(apart_from_launcher(1).is_fatal);
    EXPECT_EQ(apart_from_launcher(7).what, "");
    says({{"MPI_LOCALNRANKS", "2"}});
    EXPECT_TRUE(apart_from_launcher(1).is_fatal);
    EXPECT_EQ(apart_from_launcher(7).what, "");
}

TEST(ControlGroups, AreOfAManagerOrOfNone) {
    EXPECT_EQ(manager_of("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_1\n"), "Slurm");
    EXPECT_EQ(manager_of("5:memory:/pbs_jobs.service/jobid/12.host\n0::/\n"), "PBS");
    EXPECT_EQ(manager_of("0::/kubepods.slice/kubepods-burstable.slice/a.scope\n"), "Kubernetes");
    EXPECT_EQ(manager_of("0::/user.slice/user-1000.slice/session-2.scope\n"), "");
    EXPECT_EQ(manager_of("0::/\n"), "");
    EXPECT_EQ(manager_of(""), "");
}

TEST(Slurm, ListsOfTasks) {
    EXPECT_EQ(tasks_of_node("4", 0), 4);
    EXPECT_EQ(tasks_of_node("4", 1), -1);
    EXPECT_EQ(tasks_of_node("2(x3),1", 2), 2);
    EXPECT_EQ(tasks_of_node("2(x3),1", 3), 1);
    EXPECT_EQ(tasks_of_node("2(x3),1", 4), -1);
    EXPECT_EQ(tasks_of_node("3,12(x2),1", 1), 12);
    for (char const* const none : {"", ",", "x", "(x3)", "2(x", "-1"})
        EXPECT_EQ(tasks_of_node(none, 0), -1) << none;
    EXPECT_EQ(tasks_of_node("2", -1), -1);
}

}  // namespace
}  // namespace sluice::launcher_test
