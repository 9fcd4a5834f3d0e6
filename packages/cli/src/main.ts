#!/usr/bin/env node
import { boundYoungGeneration } from './young-generation.ts'

const args = process.argv.slice(2)
// The title replaces the arguments in the list of processes, since a URL with a login may have a password.
if (args.some((text) => text.includes('@'))) process.title = 'counterstep'
// This may replace the process, so it comes before everything else is loaded, which would then be loaded twice.
if (args[0] === 'serve') boundYoungGeneration(process)
const { runCommand } = await import('./run-command.ts')
runCommand(args)
