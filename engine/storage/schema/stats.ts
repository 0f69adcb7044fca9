/** Tasks whose sums are kept together. */
export const STATS_RANGE = 300;

/** Tables whose rows the statistics read, with the column that names the task. */
const COUNTED = [
  ['task', 'id'],
  ['session', 'task_id'],
  ['decision', 'task_id'],
] as const;

const CHANGES = [
  ['INSERT', 'NEW'],
  ['UPDATE', 'NEW'],
  ['DELETE', 'OLD'],
] as const;

const triggers = COUNTED.flatMap(([table, task]) =>
  CHANGES.map(
    ([
      change,
      row,
    ]) => `CREATE TRIGGER stats_${table}_${change.toLowerCase()} AFTER ${change} ON ${table} BEGIN
  DELETE FROM stats_range WHERE range = ${row}.${task} / ${STATS_RANGE};
END;`,
  ),
);

const conflictTriggers = CHANGES.map(
  ([change, row]) => `CREATE TRIGGER stats_conflict_${change.toLowerCase()} AFTER ${change} ON event
WHEN ${row}.kind = 'promote_conflict' BEGIN
  DELETE FROM stats_range WHERE range = (SELECT task_id FROM session WHERE id = ${row}.session_id) / ${STATS_RANGE};
END;`,
);

/** The sums of the statistics, so that a count does not read every row again. */
export const statsSchema = `
-- Sums of ranges of tasks in which everything has ended. A change of a row that they were computed from removes them.
-- oldest, newest: when their tasks were created. sums: JSON. times: durations as 64-bit floating-point numbers.
CREATE TABLE stats_range (
  range INTEGER PRIMARY KEY, oldest INTEGER NOT NULL, newest INTEGER NOT NULL, sums TEXT NOT NULL, times BLOB NOT NULL
) STRICT;
CREATE INDEX event_conflict ON event (session_id) WHERE kind = 'promote_conflict';

${[...triggers, ...conflictTriggers].join('\n')}
`;
