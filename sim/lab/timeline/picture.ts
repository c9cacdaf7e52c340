import type { Run } from '../../index.ts';
import { HEADER_HEIGHT, LINE_HEIGHT, type Geometry, type TimelineRow } from './geometry.ts';

/** A trace as an SVG file that stands alone: black on white, fit for an issue or a print. */
export function picture({ width, height, lanes, rows, textX, calmY }: Geometry, run: Run): string {
  const title = `${run.scenario}, ${run.integration}: ${run.verdict}`;
  const parts = [
    ...lanes.map(
      ({ x, name }) =>
        `<text x="${x}" y="${-14}" text-anchor="middle" font-weight="600">${escape(name)}</text>` +
        `<path d="M${x} 0V${height}" stroke="#c8cdd6"/>`,
    ),
    ...(calmY === null
      ? []
      : [
          `<path d="M8 ${calmY + 15}H${width - 8}" stroke="#8a94a6" stroke-dasharray="2 4"/>`,
          `<text x="${textX}" y="${calmY + 19}" fill="#5b6472">from here on no faults, and all must converge</text>`,
        ]),
    ...rows.map((row) => drawRow(row, textX, width)),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 ${-HEADER_HEIGHT} ${width} ${height + HEADER_HEIGHT}" width="${width}" height="${height + HEADER_HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escape(title)}</title>`,
    `<rect y="${-HEADER_HEIGHT}" width="100%" height="100%" fill="#fff"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}

function drawRow(row: TimelineRow, textX: number, width: number): string {
  const { step, markY, laneX, arrow, database } = row;
  const parts: string[] = [];
  if (row.isViolating)
    parts.push(
      `<rect x="2" y="${row.y}" width="${width - 4}" height="${row.height}" fill="#fdecea"/>`,
    );
  parts.push(`<text x="30" y="${markY + 4}" text-anchor="end" fill="#5b6472">${step.index}</text>`);
  if (arrow !== null) {
    const end = arrow.lost ? 0.6 : 1;
    const x = arrow.x1 + (arrow.x2 - arrow.x1) * end;
    const y = arrow.y1 + (arrow.y2 - arrow.y1) * end;
    const angle = (Math.atan2(arrow.y2 - arrow.y1, arrow.x2 - arrow.x1) * 180) / Math.PI;
    parts.push(
      `<path d="M${arrow.x1} ${arrow.y1}L${x} ${y}" stroke="#1f2937"${arrow.late ? ' stroke-dasharray="5 4"' : ''}/>`,
      arrow.lost
        ? `<path d="M-5 -5L5 5M-5 5L5 -5" stroke="#b42318" stroke-width="2" transform="translate(${x} ${y})"/>`
        : `<path d="M-8 -4L0 0L-8 4Z" transform="translate(${x} ${y}) rotate(${angle})"/>`,
    );
  }
  if (database !== null) {
    const half = database.isTransaction ? 7 : 4;
    parts.push(
      `<path d="M${laneX} ${markY}H${database.x}" stroke="#8a94a6"/><circle cx="${laneX}" cy="${markY}" r="3.5"/>`,
      `<rect x="${database.x - half}" y="${markY - half}" width="${half * 2}" height="${half * 2}" rx="2" stroke="#1f2937" fill="${database.changed ? '#1f2937' : '#fff'}"/>`,
    );
  }
  if (row.mark === 'crash') {
    parts.push(
      `<path d="M-5 -5L5 5M-5 5L5 -5" stroke="#b42318" stroke-width="2" transform="translate(${laneX} ${markY})"/>`,
    );
  } else if (row.mark !== 'none') {
    parts.push(`<path d="M0 -6L6 0L0 6L-6 0Z" transform="translate(${laneX} ${markY})"/>`);
  }
  for (const [index, { text, kind }] of row.lines.entries()) {
    const fill = kind === 'violation' || kind === 'fault' ? '#b42318' : '#111827';
    parts.push(
      `<text x="${textX}" y="${markY + 4.5 + index * LINE_HEIGHT}" fill="${fill}">${escape(text)}</text>`,
    );
  }
  return parts.join('');
}

/** Characters that XML refuses altogether go too. */
function escape(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
}
