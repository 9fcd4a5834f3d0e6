/** This is the version of all packages. `npm run release:version` writes it, and a test compares it with package.json. */
export const VERSION = '0.1.0'
