import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { QueryTable } from '../simulation/protocol.ts';
import { engine, query, run, tablesOf } from './state.ts';

/** Null until something is typed: then it asks for the rows of the run's own table. */
const typed: Signal<string | null> = signal(null);
const text: ReadonlySignal<string> = computed(
  () =>
    typed.value ??
    `select job_id, status, result from ${tablesOf.get(run.value.integration)?.jobs ?? 'sume_jobs'};`,
);
const answer: Signal<{ tables: QueryTable[] } | { error: string } | null> = signal(null);
run.subscribe(() => {
  answer.value = null;
});

async function put(): Promise<void> {
  try {
    answer.value = { tables: await query(text.value) };
  } catch (error) {
    answer.value = { error: error instanceof Error ? error.message : String(error) };
  }
}

/** SQL on the database at the end of the schedule. */
export function ConsolePanel(): JSX.Element {
  const { value } = answer;
  return (
    <form
      class="console"
      onSubmit={(event) => {
        event.preventDefault();
        void put();
      }}
    >
      <label>
        <span>On the database as the whole schedule left it. What you change is taken back.</span>
        <textarea
          rows={4}
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void put();
          }}
        />
      </label>
      <div class="actions">
        <button class="primary" disabled={engine.value.is !== 'ready'} title="Ctrl+Enter">
          Run SQL
        </button>
      </div>
      <div aria-live="polite">
        {value !== null && 'error' in value && <p class="bad">{value.error}</p>}
        {value !== null &&
          'tables' in value &&
          value.tables.map((table, index) => <Answer key={index} {...table} />)}
      </div>
    </form>
  );
}

function Answer({ columns, rows, affected }: QueryTable): JSX.Element {
  if (columns.length === 0)
    return <p>{affected === 1 ? '1 row changed.' : `${affected} rows changed.`}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Answer">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr class="absent">
              <td colSpan={columns.length}>no rows</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
