# r_packages.sh: R, with packages in C++ and Fortran that throw exceptions through its frames.
#
# needs: Rscript
# files: /usr/lib/R/site-library/dplyr /usr/lib/R/site-library/data.table
# files: /usr/lib/R/site-library/stringi
# as: nobody
# limit: 120

export OPENBLAS_NUM_THREADS=2 R_DATATABLE_NUM_THREADS=2

prepare() {
    true
}

run() {
    Rscript -e 'suppressMessages(library(dplyr)); d <- data.frame(k = 1:5000 %% 17, v = 1:5000)
        print(d %>% group_by(k) %>% summarise(s = sum(v)) %>% arrange(desc(s)) %>% head(4))
        print(tryCatch(d %>% mutate(x = nothing), error = function(e) "refused"))
        print(nrow(inner_join(d, d[1:20, ], by = "k")))'
    echo "status $?"
    Rscript -e 'suppressMessages(library(data.table)); d <- data.table(k = 1:9000 %% 23, v = 1:9000)
        print(head(d[, .(s = sum(v)), by = k][order(-s)], 3)); fwrite(d, "f.csv")
        print(identical(fread("f.csv"), d)); library(stringi)
        print(stri_trans_toupper(stri_rand_strings(3, 5, "[a]"))); print(stri_sort(c("b", "a")))
        print(tryCatch(stri_detect_regex("a", "("), error = function(e) "refused"))'
    echo "status $?"
    Rscript -e 'set.seed(1); x <- matrix(rnorm(4e4), 200); print(dim(svd(x)$u))
        print(dim(qr.Q(qr(x))))
        print(round(coef(lm(dist ~ speed, cars)), 3)); pdf("p.pdf"); plot(cars); hist(x); dev.off()
        library(parallel); print(sum(unlist(mclapply(1:4, function(i) sum(1:(i * 1000)),
                                                     mc.cores = 2))))'
    echo "status $?"
}

"$@"
