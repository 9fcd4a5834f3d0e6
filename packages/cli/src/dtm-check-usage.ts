export const DTM_CHECK_USAGE =
  'counterstep dtm-check --dtm http://HOST:36789   reads a running DTM, and says what a switch would refuse; see --help'
