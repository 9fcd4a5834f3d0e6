import { describe, expect, it } from 'vitest'
import { listsMountPoint } from './follow-links.ts'

const MOUNTS = String.raw`22 1 8:1 / / rw,relatime - ext4 /dev/root rw
36 22 8:1 /srv/store.db /data/store.db rw,relatime shared:1 - ext4 /dev/root rw
37 22 8:1 /srv/a\040b.db /data/a\040b\134c.db rw,relatime - ext4 /dev/root rw
`

describe('the mounts of a process', () => {
  it.each([
    ['/data/store.db', true],
    ['/data/a b\\c.db', true],
    ['/', true],
    ['/data', false],
    ['/srv/store.db', false],
    ['/data/store.db-wal', false],
  ])('%s is a mount point: %s', (path, isListed) => {
    expect(listsMountPoint(MOUNTS, path)).toBe(isListed)
  })
})
