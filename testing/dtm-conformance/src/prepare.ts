// Builds before the tests what drives the clients of DTM, since compilers beside the tests would starve these.
import { buildPrograms } from './build-programs.ts'
import { readSettings } from './settings.ts'

// The run counts a program that is missing or does not build.
const { built } = await buildPrograms(readSettings([]), (text) => process.stdout.write(`${text}\n`))
process.stdout.write(`built: ${built.map(({ name }) => name).join(', ') || 'none'}\n`)
