#!/usr/bin/env node
import { findNodeFault } from './node-version.ts'
import { boundYoungGeneration } from './young-generation.ts'

// This comes before everything else is loaded: an older Node would end there with a stack trace of a dependency.
const refusal = findNodeFault(process.versions.node)
if (refusal === undefined) {
  // This may replace the process, which then begins anew, so it comes before the cache is opened.
  if (process.argv[2] === 'serve') boundYoungGeneration(process)
  const { keepCompiled } = await import('./compile-cache.ts')
  keepCompiled()
  await import('./main.ts')
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
