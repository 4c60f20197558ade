;;; widgets.lisp: the producer and consumer of mprof's paper, in Lisp.
;;;
;;; A widget is a structure with a list of three conses and a float in it. Red widgets are kept,
;;; blue widgets are used once and dropped. After a collection, weak pointers show the survivors.
;;; Intermediate random numbers occasionally become bignums.
(defpackage widgets (:use cl))
(in-package widgets)

(defstruct widget color parts weight)

(defvar *red* nil)
(defvar *weak* nil)
(defvar *big* 0)
(defvar *made* (list 0 0 0))

(declaim (notinline make-parts weigh make-one make-red-widget make-blue-widget consume f g))

;;; Prevent tail calls, which replace the caller on the stack in compiled code.
(defmacro stay (form)
  `(multiple-value-prog1 ,form (incf (third *made*))))

(defun make-parts (n) (stay (list n (1+ n) (+ n 2))))

(defun weigh (n) (stay (* 1.5d0 (1+ n))))

(defun make-one (color n)
  (stay (make-widget :color color :parts (make-parts n) :weight (weigh n))))

(defun make-red-widget (n) (stay (make-one 'red n)))

(defun make-blue-widget (n) (stay (make-one 'blue n)))

(defun consume (w) (incf (second *made*)) (length (widget-parts w)))

(defun produce (count)
  (let ((seed 1))
    (dotimes (i count)
      (when (> seed (floor most-positive-fixnum 1103515245)) (incf *big*))
      (setf seed (mod (+ (* seed 1103515245) 12345) 2147483648))
      (let ((w (if (= 0 (mod (ash seed -16) 2)) (make-red-widget i) (make-blue-widget i))))
        (push (ext:make-weak-pointer w) *weak*)
        (if (eq (widget-color w) 'red)
            (progn (incf (first *made*)) (push w *red*))
            (consume w))))))

;;; The paper's figure 7.
(defun g (n) (stay (if (> n 0) (f (1- n)) (cons 'g n))))
(defun f (n) (stay (g n)))
(defun recur () (stay (f 1)))

(defun report ()
  (ext:gc t)
  (let ((red 0) (blue 0))
    (dolist (p *weak*)
      (let ((w (ext:weak-pointer-value p)))
        (when w
          (if (eq (widget-color w) 'red) (incf red) (incf blue)))))
    (with-open-file (to "truth" :direction :output :if-exists :supersede)
      (format to "red ~D ~D~%blue ~D ~D~%big ~D~%" (first *made*) red (second *made*) blue *big*))))
