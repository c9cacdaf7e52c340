import type { Reconciler } from '../../src/index.ts';
import { guardedHandlers, onTheCore } from '../../sim/integrations/core-parts.ts';
import type { Integration } from '../../sim/world/integration.ts';

/** The guarded core, with every outcome that it told written down. */
export function recordingIntegration(outcomes: Map<string, number>): Integration {
  const record = async <T extends string>(call: string, outcome: Promise<T>): Promise<T> => {
    const told = await outcome;
    outcomes.set(`${call}: ${told}`, (outcomes.get(`${call}: ${told}`) ?? 0) + 1);
    return told;
  };
  return onTheCore({
    name: 'guarded',
    text: 'The guarded core, its outcomes written down.',
    handlers: (core) => {
      const { reconciler } = core;
      const recorded: Reconciler = {
        ...reconciler,
        receive: (event) => record('receive', reconciler.receive(event)),
        register: (jobId, options, tx) =>
          record('register', reconciler.register(jobId, options, tx)),
        poll: (jobId, client, options) => record('poll', reconciler.poll(jobId, client, options)),
        sweep: async (options) => {
          const report = await reconciler.sweep(options);
          for (const row of report.rows) await record('sweep', Promise.resolve(row.outcome));
          return report;
        },
      };
      return guardedHandlers({ ...core, reconciler: recorded });
    },
  });
}
