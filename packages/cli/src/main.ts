#!/usr/bin/env node
import { boundYoungGeneration } from './young-generation.ts'

const args = process.argv.slice(2)
// Takes the arguments out of the list of processes, since a URL with a login may hold a password.
if (args.some((text) => text.includes('@'))) process.title = 'counterstep'
// Before all else is loaded, which would be loaded twice.
if (args[0] === 'serve') boundYoungGeneration(process)
const { runCommand } = await import('./run-command.ts')
runCommand(args)
