import { BUSINESSES } from './businesses.ts';
import { DATA } from './data.ts';
import { DEVELOPING } from './developing.ts';
import { DEVICES } from './devices.ts';
import { EVERYDAY } from './everyday.ts';
import { NAMES } from './names.ts';
import { OPERATIONS } from './operations.ts';
import { ORDINARY } from './ordinary.ts';

/** Lines of synonyms. A word in several lines is a synonym of the words of each. */
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
