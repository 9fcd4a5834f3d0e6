#!/usr/bin/env node
import { refusalOfNode } from './node-version.ts'

// Before all else is loaded, which an older Node ends with a stack trace of a dependency.
const refusal = refusalOfNode(process.versions.node)
if (refusal === undefined) {
  const { keepCompiled } = await import('./compile-cache.ts')
  keepCompiled()
  await import('./main.ts')
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
