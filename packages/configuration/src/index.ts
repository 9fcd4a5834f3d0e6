export { type AlertsConfig, type AlertTargetConfig, readAlertsFile } from './alerts/alerts-file.ts'
export { readConfigFile } from './config-file.ts'
export {
  type AccessConfig,
  addAlertServices,
  chooseTargetRules,
  hasConsole,
  isForced,
  listInsecureSwitches,
  pickAccessConfig,
  pickCallerOptions,
  pickEngineSettings,
} from './host-config.ts'
export { isLoopback } from './loopback.ts'
export { type FunctionConfig, readFunctionConfig } from './read-function-config.ts'
export {
  type Environment,
  findUnknownVariables,
  hasAll,
  readSettings,
  type Sources,
} from './read-settings.ts'
export { type FunctionRole, findServerProblems, findStoreProblems } from './rules.ts'
export { readServiceTls } from './service-tls.ts'
export { isSwitch, toFlag, toVariable } from './setting.ts'
export { SETTINGS, type SettingName, type SettingValues } from './settings.ts'
export { type SettingsInForce, toSettingsTable } from './settings-table.ts'
export { readSigningKeyFile } from './signing-key-file.ts'
export { asFlag } from './spelling.ts'
export {
  type Connection,
  connection,
  type FunctionStoreConfig,
  type ServerStoreConfig,
  type SqliteConfig,
  type StoreConfig,
  storeConfig,
  storeUrl,
} from './store-config.ts'
export {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
  readSecretPassword,
} from './store-password.ts'
export { listServerWarnings } from './warnings.ts'
