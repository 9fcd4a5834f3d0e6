/** The version of all packages. `npm run release:version` writes it, and a test holds it against package.json. */
export const VERSION = '0.1.0'
