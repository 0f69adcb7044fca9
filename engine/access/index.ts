export {
  type AgreedFile,
  type Consents,
  changeConsents,
  consentsFile,
  digestOfSetup,
  knownConfigFiles,
  readConsents,
  writeProjectConsent,
} from './consents.ts';
export { type SeatClaim, seatOf } from './seats.ts';
