package hsm

const ExitIsOurs = exitIsOurs
