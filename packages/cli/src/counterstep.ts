#!/usr/bin/env node
import { refusalOfNode } from './node-version.ts'
import { boundYoungGeneration } from './young-generation.ts'

// Before all else is loaded, which an older Node ends with a stack trace of a dependency.
const refusal = refusalOfNode(process.versions.node)
if (refusal === undefined) {
  // The process that takes this one's place begins anew: so before the cache is opened.
  if (process.argv[2] === 'serve') boundYoungGeneration(process)
  const { keepCompiled } = await import('./compile-cache.ts')
  keepCompiled()
  await import('./main.ts')
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
