// The default number of threads: quotas of control groups, in system files that the test imitates.
#include "engine/process/threads.h"

#include "engine/process/control_groups.h"

namespace {

struct Files {
    testing::ScratchFolder folder;

    // version 1 as the quota and period of a group, version 2 as cpu.max
    void set(const std::string& group, const char* quota, const char* period) const {
        folder.write(group + "/cpu.cfs_quota_us", quota), folder.write(group + "/cpu.cfs_period_us", period);
    }
    void set(const std::string& group, const char* max) const { folder.write(group + "/cpu.max", max); }

    std::size_t quota(const char* list) const {
        const std::string path = folder.write("list", list), root = folder.path();
        return quota_processors({path.c_str(), root.c_str()});
    }
};

}  // namespace

TEST_CASE("threads: a control group's quota of version 1 or 2, malformed ones, and the default", "[engine]") {
    const Files files;
    CHECK(files.quota("4:cpu:/\n0::/\n") == kNoLimit);  // no files
    files.set("cpu", "-1\n", "100000\n");
    CHECK(files.quota("4:cpu:/\n0::/\n") == kNoLimit);
    files.set("cpu/a/b", "400000\n", "100000\n");
    CHECK(files.quota("5:memory:/\n4:cpu,cpuacct:/a/b\n") == 4);
    CHECK(files.quota("4:cpuset:/a/b\n3:name=cpu:/a/b\n") == kNoLimit);  // of another controller
    files.set("cpu/a", "150000\n", "50000\n");
    CHECK(files.quota("4:cpuacct,cpu:/a/b\n") == 3);  // the smallest on the way up
    files.set("cpu", "250000\n", "100000\n");
    CHECK(files.quota("4:cpu:/a/b\n") == 2);
    CHECK(files.quota("4:cpu:/docker/of_outside\n") == 2);  // a container sees its own group at the root
    files.set("cpu", "20000\n", "100000\n");
    CHECK(files.quota("4:cpu:/a/b\n") == 1);
    files.set("a/b", "max 100000\n");  // version 2
    CHECK(files.quota("0::/a/b\n") == kNoLimit);
    files.set("a", "300000 100000\n");
    CHECK(files.quota("0::/a/b\n") == 3);
    files.set("a/b", "80000 50000\n");
    CHECK_ALL(files.quota("0::/a/b\n") == 1, files.quota("1:name=systemd:/a/b\n0::/\n") == kNoLimit);
    files.set("unified/c", "200000 100000\n");  // beside version 1
    CHECK(files.quota("3:cpuset:/c\n0::/c\n") == 2);
    files.set("cpu/c", "100000\n", "100000\n");
    CHECK(files.quota("3:cpu:/c\n0::/c\n") == 1);
    files.set("cpu", "many\n", "100000\n");  // a malformed list of groups or number sets no limit
    CHECK(files.quota("4:cpu:/\n") == kNoLimit);
    files.set("cpu", "100000\n", "0\n");
    CHECK(files.quota("4:cpu:/\n") == kNoLimit);
    files.folder.write("cpu.max", "100000\n");
    CHECK(files.quota("0::/\n") == kNoLimit);
    for (const char* list : {"", "\n", "::", "4:cpu", "\n\n:\n", "4:cpu:", "4:,cpu,:x"})
        CHECK(files.quota(list) == kNoLimit);
    CHECK_ALL(default_threads() >= 1, default_threads() <= physical_cores(), physical_cores() <= quota_processors());
}
