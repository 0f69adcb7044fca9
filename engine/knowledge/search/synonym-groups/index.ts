import { BUSINESSES } from './businesses.ts';
import { DATA } from './data.ts';
import { DEVELOPING } from './developing.ts';
import { DEVICES } from './devices.ts';
import { EVERYDAY } from './everyday.ts';
import { NAMES } from './names.ts';
import { OPERATIONS } from './operations.ts';
import { ORDINARY } from './ordinary.ts';

/** Lines of words that stand for one another. A word may be in several: it then stands for the words of each. */
export const SYNONYM_GROUPS = [
  DEVELOPING,
  EVERYDAY,
  DATA,
  DEVICES,
  OPERATIONS,
  NAMES,
  BUSINESSES,
  ORDINARY,
].join('\n');
