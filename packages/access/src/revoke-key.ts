import { changeKeyFile } from './change-key-file.ts'
import { toKeysUnusableError } from './errors.ts'

/** Takes the key out of the file; servers refuse it within a second. Throws SAGA_KEYS_UNUSABLE for an unknown id. */
export async function revokeKey(path: string, id: string): Promise<void> {
  await changeKeyFile(path, (keys) => {
    if (!keys.has(id)) throw toKeysUnusableError('the file of keys has no key of this id')
    return [...keys.values()].filter((key) => key.id !== id)
  })
}
