/**
 * The dedicated worker: simulator, fake Sume and PGlite live here, so that the page never waits for them. It
 * answers the page's asks, one at a time, apart from `cancel`.
 */
import type { Ask, Told } from './simulation/protocol.ts';
import { provide } from './simulation/provisions.ts';

// MSW looks for it while it is being imported, hence before the import below: a worker has none.
const nothingStored = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
Object.defineProperty(globalThis, 'localStorage', { value: nothingStored, configurable: true });

// PGlite first: its start takes longest, and goes on while the simulator is being read.
const opening = import('./simulation/open-database.ts');
const answering = import('./simulation/answer.ts');
globalThis.onmessage = ({ data }: MessageEvent<Ask>) => {
  if (data.kind === 'open') {
    // On its way while PGlite's own code is still being read.
    provide(data.dumpUrl, data.build);
    void opening.then(({ openDatabase }) =>
      openDatabase(data, (progress) => {
        globalThis.postMessage({ id: data.id, progress } satisfies Told);
      }),
    );
  }
  void answering.then(({ answer }) => answer(data));
};
