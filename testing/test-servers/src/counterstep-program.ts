import { fileURLToPath } from 'node:url'
import { readEnvironment } from './environment.ts'

const SOURCE = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url))

/**
 * The program `counterstep` for a process of its own: its source, or the file that TEST_COUNTERSTEP_PROGRAM names. The tests set
 * that to one bundle, because they start the program hundreds of times, and a start from six hundred modules takes half as
 * much CPU time again.
 */
export const COUNTERSTEP_PROGRAM = readEnvironment().counterstepProgram ?? SOURCE
