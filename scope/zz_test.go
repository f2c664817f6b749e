package scope
import ("testing";"bytes")
func BenchmarkParseOnly(b *testing.B){ f:=newFleet(50000,true); b.SetBytes(int64(len(f.file))); b.ReportAllocs(); b.ResetTimer(); for b.Loop(){ parse(bytes.NewReader(f.file), 1, lifted)}}
func BenchmarkVerifyOnly(b *testing.B){ f:=newFleet(50000,true); b.ReportAllocs(); b.ResetTimer(); for b.Loop(){ f.verify(b,1)}}
func BenchmarkF1(b *testing.B){ f:=newFleet(50000,true); b.ResetTimer(); for b.Loop(){ f.hashAlone()}}
func BenchmarkVerify2(b *testing.B){ f:=newFleet(50000,true); b.ReportAllocs(); b.ResetTimer(); for b.Loop(){ f.verify(b,2)}}
