import { join } from 'node:path'

/** The program that users run. */
export const CLI = join(import.meta.dirname, '../../../../packages/cli/src/main.ts')
