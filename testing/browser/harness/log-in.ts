import type { Page } from 'playwright-core'

/** Opens an address of a server that asks for keys, and logs in there. The page then shows what the address names. */
export async function logIn(
  page: Page,
  address: string,
  key: string | undefined,
  person = '',
): Promise<void> {
  if (key === undefined) throw new Error('the server was started without keys')
  await page.goto(address)
  await page.getByLabel('Your name').fill(person)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}

/** A page without a session asks who looks, and is answered 401. */
export const ASKED_WHO_LOOKS = /401 \(Unauthorized\)/
