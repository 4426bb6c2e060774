# Sourced: network namespaces of this computer act as computers h0, h1, ..., each with its own hostname, on a switch.
#   make_hosts 4 1gbit             h0 ... h3, 10.77.0.1 ..., each line limited to this rate ("" for no limit)
#   run_mpi 4 PROGRAM ARGUMENTS    Open MPI's mpirun on h0, one process on each
# Needs root, ip and tc. Not every kernel has netem, which adds delays: a line here has a rate, but no latency.

hosts=0
skip() {
    echo "skipped: $*" >&2
    exit 4
}

remove_hosts() {
    local i
    for ((i = 0; i < hosts; ++i)); do ip netns del "inkling-h$i" 2>/dev/null; done
    ip netns del inkling-switch 2>/dev/null
    [ -z "${agent:-}" ] || rm -f "$agent" "$agent.hosts"
    hosts=0
}

make_hosts() {
    local i rate=${2:-}
    [ "$(id -u)" = 0 ] || skip "network namespaces need root"
    command -v ip >/dev/null && command -v tc >/dev/null || skip "needs iproute2"
    command -v mpirun.openmpi >/dev/null || skip "needs openmpi-bin"
    ip netns add inkling-switch 2>/dev/null || skip "network namespaces are not allowed here"
    hosts=$1
    trap remove_hosts EXIT
    ip -n inkling-switch link add bridge type bridge || skip "bridges are not allowed here"
    ip -n inkling-switch link set bridge up
    agent=$(mktemp)
    for ((i = 0; i < hosts; ++i)); do
        ip netns add "inkling-h$i"
        ip -n inkling-switch link add "to-h$i" type veth peer name line netns "inkling-h$i" || skip "veth is not allowed here"
        ip -n inkling-switch link set "to-h$i" master bridge up
        ip -n "inkling-h$i" addr add "10.77.0.$((i + 1))/24" dev line
        ip -n "inkling-h$i" link set line up
        ip -n "inkling-h$i" link set lo up
        if [ -n "$rate" ]; then
            ip netns exec "inkling-h$i" tc qdisc add dev line root tbf rate "$rate" burst 1mb latency 100ms &&
                ip netns exec inkling-switch tc qdisc add dev "to-h$i" root tbf rate "$rate" burst 1mb latency 100ms ||
                skip "tc's tbf is not here"
        fi
        echo "10.77.0.$((i + 1)) slots=1" >>"$agent.hosts"
    done
    cat >"$agent" <<'AGENT'
#!/bin/bash
# Replaces ssh: AGENT ADDRESS COMMAND...
i=$((${1##*.} - 1))
shift
exec ip netns exec "inkling-h$i" unshare --uts sh -c "hostname h$i; $*"
AGENT
    chmod +x "$agent"
}

run_mpi() {
    local n=$1
    shift
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec ip netns exec inkling-h0 unshare --uts sh -c 'hostname h0; exec "$@"' sh \
        mpirun.openmpi --mca plm_rsh_agent "$agent" --mca oob_tcp_if_include 10.77.0.0/24 --mca btl tcp,self \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca orte_keep_fqdn_hostnames 1 --mca plm_rsh_no_tree_spawn 1 \
        --hostfile "$agent.hosts" --bind-to none -np "$n" "$@"
}
