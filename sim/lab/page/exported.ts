import { mermaid, vitestTest, type Run } from '../../index.ts';
import { pastedTest } from './pasted-test.ts';
import { pastedCode } from './state.ts';
import { layOut } from '../timeline/geometry.ts';
import { picture } from '../timeline/picture.ts';
import { textWidth } from '../timeline/text-width.ts';

/** Wide enough for two lines of most texts. */
const PICTURE_WIDTH = 900;

/** A trace as text, in each of its forms. JSON is what `sume-sim replay TOKEN --json` prints. */
export const exported: Readonly<Record<'json' | 'mermaid' | 'svg' | 'test', (run: Run) => string>> =
  {
    json: (run) => JSON.stringify(run),
    mermaid,
    svg: (run) => picture(layOut(run, PICTURE_WIDTH, textWidth), run),
    test: (run) => {
      const [violation] = run.violations;
      if (violation === undefined) throw new Error('A test is made of a failing run.');
      const code = pastedCode(run.integration);
      return code === null ? `${vitestTest(run, violation)}\n` : pastedTest(run, violation, code);
    },
  };
