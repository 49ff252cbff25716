// Imports a package as seen from this folder, where the peers are installed.
export const load = (name) => import(name);
