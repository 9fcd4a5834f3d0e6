export { type AccessConfig, accessConfig, accessProblems, accessWarnings } from './access-config.ts'
export { type ConfigFile, readConfigFile, readConfigText } from './config-file.ts'
export { engineProblems, engineSettings, engineWarnings } from './engine-config.ts'
export type { FunctionAccess } from './function-access.ts'
export { type FunctionStoreConfig, storeUrl } from './function-store.ts'
export { insecureSwitches, isForced } from './insecure-switches.ts'
export { isLoopback } from './loopback.ts'
export { passwordOfSecret } from './password-of-secret.ts'
export {
  type FunctionConfig,
  type FunctionEngineSettings,
  type FunctionRole,
  type FunctionSecrets,
  type ReadFunctionConfig,
  readFunctionConfig,
} from './read-function-config.ts'
export {
  type Environment,
  hasAll,
  readValues,
  type Sources,
  unknownVariables,
} from './read-values.ts'
export { serviceTls, serviceTlsProblems } from './service-tls.ts'
export { SETTINGS, type SettingName, type SettingValues } from './settings.ts'
export { readSigningKeyFile } from './signing-key-file.ts'
export { asFlag } from './spelling.ts'
export {
  type Connection,
  connection,
  type ServerStoreConfig,
  type SqliteConfig,
  type StoreConfig,
  storeConfig,
} from './store-config.ts'
export {
  type GivenPassword,
  PASSWORD_FILE_VARIABLE,
  PASSWORD_VARIABLE,
  readPassword,
} from './store-password.ts'
export { EMBEDDED_ON_LAMBDA, storeProblems, storeWarnings } from './store-problems.ts'
export {
  type CallerConfig,
  callerOptions,
  targetProblems,
  targetRules,
  targetWarnings,
} from './target-config.ts'
