import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSigningKeyFile } from '@counterstep/configuration'
import {
  createSigningKeyText,
  parseSigningKey,
  parseVerificationKey,
  type SigningKey,
} from '@counterstep/signature'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand } from '../src/config.ts'
import { runSigningKeyCommand } from '../src/signing-key-command.ts'
import { watchSigningKey } from '../src/watch-signing-key.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'counterstep-signing-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

function keyFile(text = createSigningKeyText('ed25519'), mode = 0o600): string {
  const path = join(folder(), 'key.pem')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('the file of a signing key', () => {
  it.skipIf(process.platform === 'win32')(
    'S18: A key file is refused when others may use it, or its group may change it',
    () => {
      for (const mode of [0o604, 0o620, 0o602, 0o601, 0o644, 0o660, 0o444]) {
        const command = readCommand(['serve', '--signing-key-file', keyFile(undefined, mode)], {})
        const shown = mode.toString(8).padStart(4, '0')
        expect(command).toMatchObject({ type: 'refused' })
        expect(JSON.stringify(command)).toContain(
          `--signing-key-file names a file that others may use or its group may change (mode ${shown})`,
        )
      }
      // Kubernetes mounts a secret with one of the last two modes: the file belongs to root and the group.
      for (const mode of [0o600, 0o400, 0o440, 0o640])
        expect(readSigningKeyFile(keyFile(undefined, mode))).toHaveProperty('value')
    },
  )

  it('S18: A key file is refused when it is missing, is no file, or holds no key, and the message quotes nothing of it', () => {
    const path = keyFile('canary-77')
    for (const each of [
      path,
      join(path, '..'),
      `${path}-gone`,
      keyFile('{"secret":"canary-77"'),
      keyFile('k'.repeat(20_000)),
    ]) {
      const command = readCommand(['serve'], { COUNTERSTEP_SIGNING_KEY_FILE: each })
      expect(command).toMatchObject({
        type: 'refused',
        problems: [expect.stringContaining('COUNTERSTEP_SIGNING_KEY_FILE names ')],
      })
      expect(JSON.stringify(command)).not.toContain('canary')
    }
  })

  it('A key file is taken from a flag or a variable, and none is needed', () => {
    const path = keyFile()
    for (const [args, environment] of [
      [['serve', '--signing-key-file', path], {}],
      [['serve'], { COUNTERSTEP_SIGNING_KEY_FILE: path }],
    ] as const) {
      expect(readCommand(args, environment)).toMatchObject({ config: { signingKeyFile: path } })
    }
    expect(readCommand(['serve'], {})).toHaveProperty('config.signingKeyFile', undefined)
  })
})

describe('signing-key', () => {
  it('S18: The command signing-key makes a file that only its owner may read, and prints what services take', () => {
    const path = join(folder(), 'key.pem')
    const made = runSigningKeyCommand(['create', '--out', path])
    expect(made.exitCode).toBe(0)
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
    const key = parseSigningKey(readFileSync(path, 'utf8'))
    const [line = '', ...more] = made.stdout
    expect([parseVerificationKey(line).keyId, more]).toEqual([key.keyId, []])
    expect(runSigningKeyCommand(['show', '--key', path]).stdout).toEqual([line])
    expect(readCommand(['serve', '--signing-key-file', path], {})).toMatchObject({ type: 'serve' })
  })

  it('S18: The command signing-key makes an HMAC key, and prints nothing of it', () => {
    const path = join(folder(), 'key.json')
    const made = runSigningKeyCommand(['create', '--alg', 'hmac-sha256', '--out', path])
    const { secret } = JSON.parse(readFileSync(path, 'utf8'))
    expect([made.exitCode, made.stdout, JSON.stringify(made).includes(secret)]).toEqual([0, [], false])
    expect(readSigningKeyFile(path)).toMatchObject({ value: { algorithm: 'hmac-sha256' } })
  })

  it('The command signing-key never writes over a file', () => {
    const path = keyFile('precious')
    expect(runSigningKeyCommand(['create', '--out', path])).toMatchObject({ exitCode: 1, stdout: [] })
    expect(readFileSync(path, 'utf8')).toBe('precious')
  })

  it('The command signing-key fails, and prints no key, for any other arguments', () => {
    const usages = [[], ['create'], ['create', '--out'], ['create', '--out', 'a', '--alg', 'rsa'], ['show']]
    for (const args of [
      ...usages,
      ['show', '--out', 'a'],
      ['create', 'x', '--out', 'a'],
      ['create', '--out', 'a', '--x'],
    ]) {
      expect(runSigningKeyCommand(args), args.join(' ')).toMatchObject({ exitCode: 1, stdout: [] })
    }
    expect(runSigningKeyCommand(['show', '--key', keyFile(undefined, 0o644)])).toMatchObject({
      exitCode: 1,
      stdout: [],
    })
  })
})

describe('a watched signing key', () => {
  const CHECK_MS = 5

  function watched(path: string) {
    const problems: string[] = []
    const hearers: ((what: SigningKey | string) => void)[] = []
    const tell = (what: SigningKey | string) => {
      for (const hear of hearers.splice(0)) hear(what)
    }
    const onProblem = (problem: string) => {
      problems.push(problem)
      tell(problem)
    }
    const watch = watchSigningKey(path, { onKey: tell, onProblem }, CHECK_MS)
    onTestFinished(watch.close)
    return { watch, problems, next: () => new Promise<SigningKey | string>((hear) => hearers.push(hear)) }
  }

  function replace(path: string, text: string, mode = 0o600): void {
    writeFileSync(`${path}.new`, text)
    chmodSync(`${path}.new`, mode)
    renameSync(`${path}.new`, path)
  }

  it('S22: Calls are signed with the key that the file has now', async () => {
    const path = keyFile()
    const { watch, next, problems } = watched(path)
    const first = watch.current()
    const second = createSigningKeyText('ed25519')
    const heard = next()
    replace(path, second)
    expect(await heard).toMatchObject({ keyId: parseSigningKey(second).keyId })
    expect([watch.current().keyId, problems]).toEqual([parseSigningKey(second).keyId, []])
    expect(first.keyId).not.toBe(watch.current().keyId)
  })

  it('S22: Calls are signed with the old key while the file is gone, broken or open to others, and then with the next one', async () => {
    const path = keyFile()
    const { watch, next, problems } = watched(path)
    const { keyId } = watch.current()
    const faults = [
      () => rmSync(path),
      () => replace(path, createSigningKeyText('ed25519').slice(0, 60)),
      ...(process.platform === 'win32' ? [] : [() => replace(path, createSigningKeyText('ed25519'), 0o644)]),
    ]
    for (const fault of faults) {
      const heard = next()
      fault()
      expect(await heard).toContain('the key before it goes on')
      expect(watch.current().keyId).toBe(keyId)
    }
    expect(problems).toHaveLength(faults.length)
    const heard = next()
    const last = createSigningKeyText('ed25519')
    replace(path, last)
    expect(await heard).toMatchObject({ keyId: parseSigningKey(last).keyId })
  })

  it('S22: Another secret under the same name is another key', async () => {
    const named = (letter: string) =>
      JSON.stringify({ keyid: 'a', alg: 'hmac-sha256', secret: letter.repeat(43) })
    const path = keyFile(named('A'))
    const { watch, next } = watched(path)
    const heard = next()
    replace(path, named('B'))
    await heard
    expect(watch.current().key.equals(parseSigningKey(named('B')).key)).toBe(true)
  })
})
