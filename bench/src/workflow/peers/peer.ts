import type { ScenarioContext } from '../../scenario.ts'
import type { OwnPostgres } from '../own-postgres.ts'
import type { TransferRow } from '../transfer-row.ts'

/** Another system that runs functions of several steps. */
export interface Peer {
  readonly name: string
  /** The folder of `bench/peers` that fixes its packages. */
  readonly packages: string
  /** Says in what its terms differ from ours. */
  readonly note: string
  /** The packages lie in the `node_modules` of the folder. */
  open(context: ScenarioContext, postgres: OwnPostgres, folder: string): Promise<TransferRow>
}
