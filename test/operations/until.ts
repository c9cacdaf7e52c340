import { vi } from 'vitest';

/** How long anything may take that takes seconds on a quiet machine. */
const DEADLINE_MS = 60_000;

/** Resolves when nothing is missing any more. At the deadline it rejects and says what still is. */
export async function until(
  what: string,
  stillMissing: () => Promise<readonly string[]>,
): Promise<void> {
  await vi.waitFor(
    async () => {
      const missing = await stillMissing();
      if (missing.length === 0) return;
      const some = missing.slice(0, 10).join('\n  ');
      throw new Error(
        `Not reached within ${DEADLINE_MS / 1000} s: ${what}. Missing, ${missing.length} in all:\n  ${some}`,
      );
    },
    { timeout: DEADLINE_MS, interval: 250 },
  );
}
