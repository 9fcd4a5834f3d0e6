import { expect, it } from 'vitest'
import { parseUser } from './server-user.ts'

const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:n:/:/x\n'

it("PostgreSQL's own user is taken before the user nobody", () => {
  expect(parseUser(`${PASSWD}postgres:x:101:104::/var/lib/postgresql:/bin/sh\n`)).toEqual({
    uid: 101,
    gid: 104,
  })
  expect(parseUser(PASSWD)).toEqual({ uid: 65534, gid: 65533 })
})

it('No user is taken where there is none, or where it is root', () => {
  expect(parseUser('')).toBe(undefined)
  expect(parseUser('postgres:x:0:0::/:/bin/sh\n')).toBe(undefined)
})
