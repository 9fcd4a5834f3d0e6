import { findNodeFault } from '@counterstep/cli/node-version'

// Each entry imports this module before all others, so that it runs first: on an older Node a dependency would end the
// import with an error of its own that does not name the cause.
const refusal = findNodeFault(process.versions.node)
if (refusal !== undefined) throw new Error(refusal)
