// `npm run image:check` builds infra/Dockerfile without a container engine, and runs the images.

import { CheckList } from './check-list.ts'
import { runImageChecks } from './image-checks.ts'

const list = new CheckList((line) => process.stdout.write(`${line}\n`))
await runImageChecks(list)
process.exitCode = list.printCounts() ? 0 : 1
