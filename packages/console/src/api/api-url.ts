/** The console lies beside the interface, behind whatever prefix: `…/console/` and `…/v1/`. */
export const API_URL = new URL('../v1/', document.baseURI)
