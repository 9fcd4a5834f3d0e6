// A process of its own, so that the server that waits for it never loads the bundler: build-console.ts OUT_DIR.
import { build } from 'vite'
import { compressFiles } from './compress-files.ts'
import { createViteConfig } from './vite-config.ts'

const outDir = process.argv[2]
if (outDir === undefined) throw new Error('build-console.ts OUT_DIR')
// A test's own environment would build the libraries' slow and talkative variants.
process.env.NODE_ENV = 'production'
await build(createViteConfig(outDir))
await compressFiles(outDir)
