import { conflict, type Footprint } from './footprint.ts';

/** One schedule as it was executed, with what an exhaustive search has to know of it. */
export interface Execution<Outcome> {
  readonly events: readonly Event[];
  /** True when every step that was left to take had been put to sleep: another schedule stands for this one. */
  readonly redundant: boolean;
  readonly outcome: Outcome;
}

/** One step of an execution. */
export interface Event {
  readonly label: string;
  readonly footprint: Footprint;
  /** Index of the event whose task asked for this one; −1 if it was there from the beginning, −2 if offered. */
  readonly cause: number;
  /** Labels of everything that could have been taken instead, this one included. */
  readonly enabled: readonly string[];
  /** Labels that could be taken before it, were not, and cannot be any more. */
  readonly disabled: readonly string[];
}

/**
 * Runs the schedule that begins with `prefix` and then takes any step that does not sleep. `sleeping` holds
 * steps whose being taken next is covered elsewhere, with the footprint seen there; a step that conflicts with
 * one wakes it.
 */
export type Execute<Outcome> = (
  prefix: readonly string[],
  sleeping: ReadonlyMap<string, Footprint>,
) => Promise<Execution<Outcome>>;

export interface ExplorationOptions<Outcome> {
  execute: Execute<Outcome>;
  /** Called for each schedule that is not redundant. Return false to stop. */
  onSchedule: (execution: Execution<Outcome>) => boolean;
  /** False takes every order, equivalent or not. */
  prune: boolean;
  /** Whether the order of two steps can matter; by their footprints. */
  dependent?: (one: Event, other: Event) => boolean;
}

/** A point of the current schedule where it was decided what comes next. */
interface Node {
  /** What has been taken here, or is being taken now: everything below the others is done. */
  readonly taken: Map<string, Footprint | null>;
  /** What still has to be taken here. */
  readonly backtrack: Set<string>;
  /** What sleeps here. */
  sleeping: ReadonlyMap<string, Footprint>;
  enabled: readonly string[];
}

/**
 * Covers every inequivalent order of a deterministic program: source-DPOR with sleep sets (Abdulla, Aronis,
 * Jonsson, Sagonas: "Optimal dynamic partial order reduction", POPL 2014), on footprints that are observed, not
 * declared. Two schedules are equivalent when one becomes the other by swapping neighbours that do not
 * conflict. Each label is taken at most once in a schedule, so a label stands for its event.
 *
 * Two things are ours. A step that disables another depends on it, and the disabled one is tried in its place
 * (a crash ends what its process was about to do). A step that was not possible yet where a race would have it
 * is no order at all, and is passed over (a time-out goes off only when nothing else can happen).
 *
 * Returns true when everything was covered, false when `onSchedule` stopped it.
 */
export async function exploreOrders<Outcome>(
  options: ExplorationOptions<Outcome>,
): Promise<boolean> {
  const { execute, onSchedule, prune } = options;
  const dependent = options.dependent ?? ((one, other) => conflict(one.footprint, other.footprint));
  const nodes: Node[] = [];
  const path: string[] = [];

  for (;;) {
    const depth = path.length;
    const last = nodes[depth - 1];
    const sleeping =
      prune && last !== undefined
        ? sleepBelow(last, path[depth - 1] ?? '')
        : new Map<string, Footprint>();
    const execution = await execute(path, sleeping);
    const { events } = execution;
    // Nodes below the prefix are new.
    for (let index = depth; index < events.length; index += 1) {
      const event = events[index];
      if (event === undefined) break;
      const above = nodes[index - 1];
      const previous = events[index - 1];
      nodes.push({
        taken: new Map([[event.label, event.footprint]]),
        backtrack: new Set(prune ? event.disabled : event.enabled),
        sleeping:
          above === undefined || previous === undefined
            ? new Map()
            : awake(index === depth ? sleeping : above.sleeping, previous),
        enabled: event.enabled,
      });
    }
    const branch = events[depth - 1];
    if (depth > 0 && branch !== undefined) {
      const node = nodes[depth - 1];
      node?.taken.set(branch.label, branch.footprint);
      if (prune) for (const label of branch.disabled) node?.backtrack.add(label);
    }
    if (prune) reverseRaces(events, nodes, dependent, Math.max(0, depth - 1));
    if (!execution.redundant && !onSchedule(execution)) return false;

    // The deepest node with something left to take.
    let next: string | undefined;
    path.length = 0;
    for (const event of events) path.push(event.label);
    while (nodes.length > 0) {
      const node = nodes[nodes.length - 1];
      if (node === undefined) break;
      next = [...node.backtrack].find(
        (label) => !node.taken.has(label) && !node.sleeping.has(label),
      );
      if (next !== undefined) {
        node.taken.set(next, null);
        path.length = nodes.length - 1;
        path.push(next);
        break;
      }
      nodes.pop();
    }
    if (next === undefined) return true;
  }
}

/** What sleeps after the branch: all that was taken at the node before it, or slept there. */
function sleepBelow(node: Node, branch: string): Map<string, Footprint> {
  const sleeping = new Map(node.sleeping);
  for (const [label, footprint] of node.taken) {
    if (label !== branch && footprint !== null) sleeping.set(label, footprint);
  }
  return sleeping;
}

/** What sleeps after an event that no branch chose: what slept before and does not conflict with it. */
function awake(sleeping: ReadonlyMap<string, Footprint>, event: Event): Map<string, Footprint> {
  return new Map([...sleeping].filter(([, footprint]) => !conflict(footprint, event.footprint)));
}

/**
 * For each race in the schedule (two events that conflict, with nothing between them that orders them anyway),
 * makes sure that the order in which the later one comes first is taken somewhere.
 */
function reverseRaces(
  events: readonly Event[],
  nodes: readonly Node[],
  dependent: (one: Event, other: Event) => boolean,
  from: number,
): void {
  const before = happensBefore(events, dependent);
  for (let late = from; late < events.length; late += 1) {
    const later = events[late];
    if (later === undefined) continue;
    for (let early = late - 1; early >= 0; early -= 1) {
      const earlier = events[early];
      if (earlier === undefined || !before[late]?.has(early)) continue;
      if (ordersAnyway(before, early, late) || isCaused(events, early, late)) continue;
      const node = nodes[early];
      if (node === undefined) continue;
      // What does not happen after the earlier one can come before it, and then the later one.
      const rest: number[] = [];
      for (let index = early + 1; index < late; index += 1) {
        if (!before[index]?.has(early)) rest.push(index);
      }
      rest.push(late);
      const initials = rest.filter(
        (index) => !rest.some((other) => other < index && before[index]?.has(other)),
      );
      const labels = initials.map((index) => events[index]?.label ?? '');
      if (
        labels.some(
          (label) => node.backtrack.has(label) || node.taken.has(label) || node.sleeping.has(label),
        )
      )
        continue;
      const possible = labels.find((label) => node.enabled.includes(label));
      if (possible !== undefined) node.backtrack.add(possible);
    }
  }
}

/** For each event, the earlier ones that come before it in every equivalent order. */
function happensBefore(
  events: readonly Event[],
  dependent: (one: Event, other: Event) => boolean,
): Set<number>[] {
  const before: Set<number>[] = [];
  for (const [index, event] of events.entries()) {
    const mine = new Set<number>();
    for (let other = index - 1; other >= 0; other -= 1) {
      if (mine.has(other)) continue;
      const earlier = events[other];
      if (earlier === undefined) continue;
      if (
        event.cause === other ||
        earlier.disabled.includes(event.label) ||
        dependent(earlier, event)
      ) {
        mine.add(other);
        for (const further of before[other] ?? []) mine.add(further);
      }
    }
    before.push(mine);
  }
  return before;
}

/** Whether a third event stands between the two in every equivalent order. */
function ordersAnyway(before: readonly Set<number>[], early: number, late: number): boolean {
  for (let between = early + 1; between < late; between += 1) {
    if (before[late]?.has(between) === true && before[between]?.has(early) === true) return true;
  }
  return false;
}

/** The later one was only asked for because the earlier one happened. */
function isCaused(events: readonly Event[], early: number, late: number): boolean {
  return events[late]?.cause === early;
}

/** Beyond so many sets of events, orders are not counted. */
const MAX_COUNTED = 10_000;

/** How many orders are equivalent to this one, it included; null if there are too many to count. */
export function countEquivalent(
  events: readonly Event[],
  dependent: (one: Event, other: Event) => boolean = (one, other) =>
    conflict(one.footprint, other.footprint),
): number | null {
  // Whether what the adversary offers can be had may change with every step: its place is not known.
  if (events.some(({ cause }) => cause < -1)) return null;
  const before = happensBefore(events, dependent);
  // Dynamic programming over the sets of events that can be done so far, each a number with a bit per event.
  const needed = before.map((earlier) =>
    [...earlier].reduce((set, index) => set | (1n << BigInt(index)), 0n),
  );
  let layer = new Map<bigint, number>([[0n, 1]]);
  let seen = 0;
  for (let size = 0; size < events.length; size += 1) {
    const next = new Map<bigint, number>();
    for (const [done, ways] of layer) {
      for (const [index, earlier] of needed.entries()) {
        const bit = 1n << BigInt(index);
        if ((done & bit) !== 0n || (done & earlier) !== earlier) continue;
        next.set(done | bit, (next.get(done | bit) ?? 0) + ways);
      }
    }
    seen += next.size;
    if (seen > MAX_COUNTED) return null;
    layer = next;
  }
  return [...layer.values()].reduce((sum, ways) => sum + ways, 0);
}
