// An ambient module may hold no relative import statement.
/* oxlint-disable typescript/consistent-type-imports */
declare module 'virtual:shipped' {
  /** The trace that a first visit opens on. */
  export const opening: import('../../index.ts').Run;
  export const catalogue: import('./catalogue.ts').Catalogue;
  /** Names the data directory: another build's may not fit. */
  export const build: string;
  /** The data directory's file, beside the page. */
  export const dump: string;
}

// PGlite's own files, by names that only the lab's build knows.
declare module 'virtual:pglite.wasm?url' {
  const url: string;
  export default url;
}
declare module 'virtual:pglite.data?url' {
  const url: string;
  export default url;
}
