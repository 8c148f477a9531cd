# Compares reports with what is expected of them.
status=0
compare() {
    name=$1
    shift
    if ./ledger "$@" tests/spring.journal 2>&1 | diff tests/"$name".expected - ; then
        echo "ok $name"
    else
        echo "not ok $name"
        status=1
    fi
}
compare all
compare march -f 2025-03-01 -t 2025-04-01
compare shallow -d 1
exit $status
