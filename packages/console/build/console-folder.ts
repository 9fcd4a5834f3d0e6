import { dirname } from 'node:path'

/** The folder of the package, which has index.html in a clone. */
export const CONSOLE_FOLDER = dirname(import.meta.dirname)
