#!/bin/sh
# make_json.sh: print about 5 MB of JSON, identical on every machine: 40,000 orders of customers.
exec awk 'BEGIN {
    print "["
    for (i = 1; i <= 40000; i++) {
        # A linear congruence instead of rand(), whose numbers differ between versions of awk.
        x = (x * 1103 + 12345) % 65537
        printf "{\"order\":%d,\"customer\":\"customer-%04d\",\"city\":\"city-%02d\",", \
            i, x % 1500, x % 37
        printf "\"items\":[{\"sku\":\"A%05d\",\"count\":%d},{\"sku\":\"B%05d\",\"count\":%d}],", \
            x, x % 9 + 1, (x * 7) % 65537, x % 4 + 1
        printf "\"paid\":%s}%s\n", x % 3 ? "true" : "false", i < 40000 ? "," : ""
    }
    print "]"
}' </dev/null
