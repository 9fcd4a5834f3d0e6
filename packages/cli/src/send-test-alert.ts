import { httpBranchCaller } from '@counterstep/branch-http'
import { targetPolicy } from '@counterstep/branch-http/targets'
import { readSigningKeyFile } from '@counterstep/configuration'
import { type AlertTarget, nodeIds, StoreEventMemory, toAlertCall } from '@counterstep/engine'
import { callSigner } from '@counterstep/signature'
import { buildAlertOptions } from './alert-options.ts'
import type { AlertsCommand } from './alerts-command.ts'

/** Sends a test to a target from this machine, as a server would send an alert. It needs no server and no store. */
export async function sendTestAlert({
  alerts,
  target: { name, service },
  signingKeyFile,
  egressProxy,
}: AlertsCommand): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const key = signingKeyFile === undefined ? undefined : readSigningKeyFile(signingKeyFile)
  if (key !== undefined && 'problem' in key) return fail(`--signing-key-file ${key.problem}.`)
  const caller = httpBranchCaller({
    targets: targetPolicy({ services: [service], allowed: [], others: 'none', isLocal: false }),
    proxyUrl: egressProxy,
    signer: key && callSigner(() => key.value, Date.now),
  })
  try {
    const options = buildAlertOptions(alerts, new StoreEventMemory())
    const target = options.targets.find((each) => each.name === name) as AlertTarget
    const { result, statusCode, error } = await caller.call(
      toAlertCall(target, {
        gid: `alert-test-${nodeIds().token()}`,
        facts: {
          ...{ rule: 'test', state: 'open', problem: 'test', count: 1, since: Date.now() },
          ...{ names: [], sampleGids: [] },
        },
      }),
    )
    const outcome = String(statusCode ?? error)
    if (result === 'success')
      return {
        stdout: `${name} has taken the test (${outcome}, ${key === undefined ? 'not signed' : 'signed'}).\n`,
        stderr: '',
      }
    return fail(`${name} has not taken the test: ${outcome}. Only the status 200 counts.`)
  } finally {
    await caller.close()
  }
}

function fail(sentence: string) {
  return { stdout: '', stderr: `counterstep: ${sentence}\n` }
}
