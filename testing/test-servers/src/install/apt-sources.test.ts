import { describe, expect, it } from 'vitest'
import { findDebianArchive } from './apt-sources.ts'

const NEW_FORM = `
Types: deb
# a comment
URIs: http://mirror.example.com/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys.gpg

Types: deb
URIs: http://mirror.example.com/debian-security
Suites: bookworm-security
Components: main
`
const OTHER_MAKER = 'deb [arch=amd64] https://apt.example.org cloud-bookworm main\n'
const OLD_FORM = `
# deb http://old.example.com/debian bookworm main
deb http://security.example.com/debian-security bookworm-security main
deb [signed-by=/keys.gpg] http://old.example.com/debian  bookworm  main contrib
`

describe("Debian's archive", () => {
  for (const [form, texts, codename, expected] of [
    ['the newer form', [NEW_FORM], 'bookworm', 'http://mirror.example.com/debian'],
    ['the older form', [OLD_FORM], 'bookworm', 'http://old.example.com/debian'],
    [
      'a file after that of another maker',
      [OTHER_MAKER, NEW_FORM],
      'bookworm',
      'http://mirror.example.com/debian',
    ],
    [
      'a suite by its role',
      ['deb http://a.example/debian unstable main'],
      'trixie',
      'http://a.example/debian',
    ],
  ] as const) {
    it(`The archive of Debian is found in ${form}`, () =>
      expect(findDebianArchive(texts, codename)).toBe(expected))
  }

  it('The archive of Debian is not found where there is none', () => {
    expect(findDebianArchive([], 'bookworm')).toBe(undefined)
    expect(findDebianArchive([OTHER_MAKER, 'garbage\n\nURIs:\n'], 'bookworm')).toBe(undefined)
    expect(findDebianArchive(['deb http://a.example/debian bookworm contrib'], 'bookworm')).toBe(undefined)
  })
})
