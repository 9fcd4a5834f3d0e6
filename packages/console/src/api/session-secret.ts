import { API_URL } from './api-url.ts'

/** Consoles behind one proxy may differ by their path alone, and share the storage. */
const NAME = `counterstep-session ${API_URL.pathname}`

/** The secret of this page, if the browser refuses storage. A reload then asks for the key again. */
let unstored: string | undefined

/**
 * Keeps the secret that a login has answered. Other tabs have it too, and a page on another port of this host has not,
 * though that port gets the cookie.
 */
export function keepSessionSecret(secret: string | undefined): void {
  unstored = undefined
  try {
    if (secret === undefined) localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, secret)
  } catch {
    // A browser may refuse storage.
    unstored = secret
  }
}

/** Shows a session to the server. The cookie alone, which the browser adds, gives nothing away. */
export function writeSessionSecret(): Readonly<Record<string, string>> {
  const secret = unstored ?? readStored()
  return secret === undefined ? {} : { 'counterstep-console': secret }
}

/** Another tab may have logged in or out meanwhile, so it is read each time. */
function readStored(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined
  } catch {
    // It was refused when it was kept, too.
    return undefined
  }
}
