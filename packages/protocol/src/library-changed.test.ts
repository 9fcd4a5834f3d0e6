import { expect, it } from 'vitest'
import { LibraryChangedError } from './library-changed.ts'

it('The error of a changed library names the library, the version that was found and the one to install', () => {
  const error = new LibraryChangedError({
    library: 'driver',
    version: '2.1.0',
    part: 'its socket',
    readIn: '2.0.3',
  })
  expect(error.message).toBe('driver 2.1.0 cannot be used: it has changed its socket. Install driver 2.0.3.')
  expect(error).toMatchObject({ code: 'SAGA_LIBRARY_CHANGED', meaning: 'bug' })
})
