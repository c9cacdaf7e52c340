import { render } from 'preact';
import { App } from './page/app.tsx';
import { afterPainting } from './page/pace.ts';
import { start } from './page/state.ts';

const place = document.getElementById('lab');
if (place === null) throw new Error('The page has no place for the lab.');
render(<App />, place);
// The first picture comes before the simulator's megabytes.
afterPainting(start);
