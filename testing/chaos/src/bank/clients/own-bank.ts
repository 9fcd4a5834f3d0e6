/** The service that is a function of an app. */
export const OWN_BANK = 'own-bank'

/** This bank's moves are called so, where servers are apps. */
const OWN_BANK_INDEX = 0

/** Where sagas call the moves of each bank. */
export function listMoveUrls(bankUrls: readonly string[], inApps: boolean): readonly string[] {
  return bankUrls.map((url, index) => (inApps && index === OWN_BANK_INDEX ? `${OWN_BANK}:` : url))
}
