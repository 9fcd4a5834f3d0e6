// DTM's own server, in the version that `npm run bench -- dtm --peers` builds.
module counterstep.bench/dtm

go 1.22

require github.com/dtm-labs/dtm v1.19.0
