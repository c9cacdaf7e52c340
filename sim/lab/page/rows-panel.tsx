import type { ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Run } from '../../index.ts';
import { rowsAt, type RowAt } from '../trace/rows-at.ts';
import { sumeSays } from '../trace/sume-says.ts';
import { tablesOf } from './state.ts';

const NO_TABLES = { jobs: 'sume_jobs', parked: 'sume_parked', effects: 'effects' };

/** The rows as the chosen step left them, what it changed, and what Sume thinks beside them. */
export function RowsPanel({ run, step }: { run: Run; step: ReadonlySignal<number> }): JSX.Element {
  const tables = tablesOf.get(run.integration) ?? NO_TABLES;
  const { jobs, parked, effects } = rowsAt(run, tables, step.value);
  const said = sumeSays(run, step.value);
  const known = new Set(jobs.map(({ key }) => key));
  const unknown = [...said].filter(([key]) => !known.has(key));
  return (
    <div class="rows">
      <table>
        <caption>
          jobs <small>after step {step.value}</small>
        </caption>
        <thead>
          <tr>
            <th>job</th>
            <th>the row says</th>
            <th>result</th>
            <th>Sume says</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((row) => (
            <JobRow key={row.key} at={row} sume={said.get(row.key)} />
          ))}
          {unknown.map(([key, status]) => (
            <tr key={key} class="absent">
              <th scope="row">{key}</th>
              <td colSpan={2}>no row</td>
              <td>{status}</td>
            </tr>
          ))}
          {jobs.length === 0 && unknown.length === 0 && (
            <tr class="absent">
              <td colSpan={4}>no row, and no job at Sume yet</td>
            </tr>
          )}
        </tbody>
      </table>
      {tables.parked !== null && (
        <table>
          <caption>
            parked <small>events whose job has no row yet</small>
          </caption>
          <tbody>
            {parked.map(({ key, row, before }) => (
              <tr key={key} class={changedClass(before, row)}>
                <th scope="row">{key}</th>
                <td>
                  <Word value={row?.['event'] ?? before?.['event']} isGone={row === null} />
                </td>
                <td>
                  {row === null ? 'taken' : `deliveries ${show(row['deliveries'])}`}
                  <ChangeMark before={before} row={row} />
                </td>
              </tr>
            ))}
            {parked.length === 0 && (
              <tr class="absent">
                <td colSpan={3}>none</td>
              </tr>
            )}
          </tbody>
        </table>
      )}
      {effects.length > 0 && (
        <table>
          <caption>
            effects <small>of the end of a job</small>
          </caption>
          <tbody>
            {effects.map(({ key, count, now }) => (
              <tr key={key} class={now === 0 ? '' : 'changed'}>
                <th scope="row">{key}</th>
                <td>
                  {count === 1 ? 'once' : `${count} times`}
                  {now !== 0 && <em>● now</em>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function JobRow({
  at: { key, row, before },
  sume,
}: {
  at: RowAt;
  sume: string | undefined;
}): JSX.Element {
  const status = show(row?.['status']);
  const earlier = before ? show(before['status']) : null;
  return (
    <tr class={changedClass(before, row)}>
      <th scope="row">{key}</th>
      <td>
        {earlier !== null && earlier !== status && (
          <>
            <s>{earlier}</s> →{' '}
          </>
        )}
        <Word value={row === null ? 'deleted' : status} isGone={row === null} />
        <ChangeMark before={before} row={row} />
      </td>
      <td>{show(row?.['result']) === '∅' ? '∅' : 'there'}</td>
      <td class={sume === status ? 'agrees' : 'differs'}>
        {sume ?? 'nothing'}
        <small>{sume === status ? '=' : '≠'}</small>
      </td>
    </tr>
  );
}

function Word({ value, isGone }: { value: unknown; isGone: boolean }): JSX.Element {
  return isGone ? <s>{show(value)}</s> : <b>{show(value)}</b>;
}

/** Said in words too: a colour alone would not do. */
function ChangeMark({ before, row }: Pick<RowAt, 'before' | 'row'>): JSX.Element | null {
  if (before === undefined) return null;
  const word = before === null ? 'new' : row === null ? 'gone' : 'changed';
  return <em>● {word}</em>;
}

function changedClass(before: RowAt['before'], row: RowAt['row']): string {
  if (before === undefined) return '';
  return row === null ? 'changed gone' : 'changed';
}

function show(value: unknown): string {
  if (value === null || value === undefined) return '∅';
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}
